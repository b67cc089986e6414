//! Wall time as text for log lines, in UTC.

/// "2026-08-28T12:34:56.789Z", from milliseconds since 1970.
pub fn iso_time(ms_since_1970: u64) -> String {
    let (seconds, ms) = (ms_since_1970 / 1000, ms_since_1970 % 1000);
    let (days, second_of_day) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = date_of(days);
    let (hour, minute, second) = (second_of_day / 3600, second_of_day / 60 % 60, second_of_day % 60);
    format!("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", year, month, day, hour, minute, second, ms)
}

/// Counts in eras of 400 years that begin on 1 March, so that the leap day is the last of its year.
fn date_of(days_since_1970: u64) -> (u64, u64, u64) {
    let days = days_since_1970 + 719_468;
    let era = days / 146_097;
    let day_of_era = days % 146_097;
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    (year_of_era + era * 400 + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_dates() {
        assert_eq!(iso_time(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(iso_time(951_782_399_999), "2000-02-28T23:59:59.999Z");
        assert_eq!(iso_time(951_868_800_001), "2000-03-01T00:00:00.001Z");
        assert_eq!(iso_time(1_709_164_800_000), "2024-02-29T00:00:00.000Z");
    }
}
