/** Why a program cannot be the shim: not static, not an ELF program, or too large. Undefined when it can. */
export function elfProblem(program: Buffer, bytesMax: number): string | undefined {
  if (program.length > bytesMax) return `it has ${program.length} bytes, the limit is ${bytesMax}`;
  if (program.length < headerBytes || program.readUInt32BE(0) !== elfMagic) return "it is not an ELF program";
  if (program.readUInt8(4) !== elf64 || program.readUInt8(5) !== littleEndian) return "it is not 64-bit little endian";
  const interpreter = segmentTypes(program).includes(segmentInterpreter);
  return interpreter ? "it is not static: it names a dynamic loader (PT_INTERP)" : undefined;
}

const headerBytes = 64;
const elfMagic = 0x7f45_4c46;
const elf64 = 2;
const littleEndian = 1;
const segmentInterpreter = 3;

function segmentTypes(program: Buffer): readonly number[] {
  const tableAt = Number(program.readBigUInt64LE(32));
  const entryBytes = program.readUInt16LE(54);
  const count = program.readUInt16LE(56);
  return Array.from({ length: count }, (_unused, index) => program.readUInt32LE(tableAt + index * entryBytes));
}
