import { Help, type Command, type HelpConfiguration, type Option } from "commander";

const plain = Object.assign(new Help(), { showGlobalOptions: true });

/** How `--help` shows options: an option of a command hides those of that name above it, which mean the same or do not apply. */
export const helpForm: HelpConfiguration = {
  showGlobalOptions: true,
  visibleGlobalOptions: optionsAbove,
  // A repeatable option begins with an empty list, which tells nobody anything.
  optionDescription: (option) =>
    Array.isArray(option.defaultValue) && option.defaultValue.length === 0
      ? option.description
      : plain.optionDescription(option),
};

/** Leaves options of the command above out of the help: they stand there, and do not apply here. */
export function withoutOptionsAbove(command: Command, flags: readonly string[]): Command {
  return command.configureHelp({
    ...helpForm,
    visibleGlobalOptions: (shown) => optionsAbove(shown).filter(({ long }) => !flags.includes(long ?? "")),
  });
}

function optionsAbove(command: Command): Option[] {
  const shown = new Set(plain.visibleOptions(command).map((option) => option.attributeName()));
  return plain.visibleGlobalOptions(command).filter((option) => {
    const name = option.attributeName();
    const isFirst = !shown.has(name);
    shown.add(name);
    return isFirst;
  });
}
