/**
 * The system calls that the sandbox denies to a command, as a program for the kernel (S-30).
 *
 * Namespaces do not stop unix sockets: a program can connect to a socket file of the machine (Docker, D-Bus, an agent
 * for keys) through a read-only mount. So a command can create internet sockets only, and it has no internet either.
 *
 * Programs need pairs of unix sockets. The filter allows stream and sequenced-packet pairs, which stay connected to
 * each other. A datagram socket of a pair could send to any socket file by its path.
 *
 * Namespaces also let a program in the workspace get the set-user-ID or set-group-ID bit. Outside the sandbox, this bit
 * would give every user of the machine the rights of the user or group that runs Sheaf. Team folders have the
 * set-group-ID bit, and the filter cannot see if a call changes the mode of a folder.
 */

/** The numbers and calls of a processor architecture. */
interface Architecture {
  /** AUDIT_ARCH_…, for native calls only: the same number means another call on another architecture. */
  readonly audit: number;
  /** First number of another ABI on the same architecture (x32). */
  readonly foreignFrom?: number;
  readonly calls: Readonly<Record<FilteredCall, number>>;
  /** Calls that set the mode of a file. */
  readonly modeCalls: readonly ModeCall[];
}

interface ModeCall {
  readonly number: number;
  /** Index of the argument with the mode, from 0. */
  readonly mode: number;
  /** Index of the argument with the flags that decide if the kernel uses the mode, from 0. */
  readonly flags?: number;
  /** True for a call that changes the mode of an existing file or folder; the other calls create files. */
  readonly isChange?: true;
}

type FilteredCall =
  | "socket" | "socketpair" | "clone" | "unshare" | "setns" | "clone3" | "io_uring_setup" | "io_uring_enter"
  | "io_uring_register" | "openat2" | "add_key" | "request_key" | "keyctl" | "bpf" | "perf_event_open" | "userfaultfd"; // prettier-ignore

const architectures: Readonly<Record<string, Architecture>> = {
  x64: {
    audit: 0xc000_003e,
    foreignFrom: 0x4000_0000,
    calls: {
      socket: 41, socketpair: 53, clone: 56, add_key: 248, request_key: 249, keyctl: 250, unshare: 272,
      perf_event_open: 298, setns: 308, bpf: 321, userfaultfd: 323, io_uring_setup: 425, io_uring_enter: 426, io_uring_register: 427,
      clone3: 435, openat2: 437,
    },
    modeCalls: [
      { number: 2, flags: 1, mode: 2 }, // open
      { number: 85, mode: 1 }, // creat
      { number: 90, mode: 1, isChange: true }, // chmod
      { number: 91, mode: 1, isChange: true }, // fchmod
      { number: 133, mode: 1 }, // mknod
      { number: 257, flags: 2, mode: 3 }, // openat
      { number: 259, mode: 2 }, // mknodat
      { number: 268, mode: 2, isChange: true }, // fchmodat
      { number: 452, mode: 2, isChange: true }, // fchmodat2
    ],
  },
  arm64: {
    audit: 0xc000_00b7,
    calls: {
      unshare: 97, socket: 198, socketpair: 199, add_key: 217, request_key: 218, keyctl: 219, clone: 220,
      perf_event_open: 241, setns: 268, bpf: 280, userfaultfd: 282, io_uring_setup: 425, io_uring_enter: 426, io_uring_register: 427,
      clone3: 435, openat2: 437,
    },
    modeCalls: [
      { number: 33, mode: 2 }, // mknodat
      { number: 52, mode: 1, isChange: true }, // fchmod
      { number: 53, mode: 2, isChange: true }, // fchmodat
      { number: 56, flags: 2, mode: 3 }, // openat
      { number: 452, mode: 2, isChange: true }, // fchmodat2
    ],
  },
}; // prettier-ignore

/** Allowed socket families: IPv4, IPv6, and netlink, by which programs list network interfaces. */
const socketFamilies = [2, 10, 16] as const;
/** AF_UNIX. */
const unixFamily = 1;
/** SOCK_STREAM and SOCK_SEQPACKET. For SOCK_RAW the kernel makes a datagram socket. */
const connectedTypes = [1, 5] as const;
/** The bits that contain the type of a socket. SOCK_CLOEXEC and SOCK_NONBLOCK are flags in the other bits. */
const typeMask = 0xf;
const newUserNamespace = 0x1000_0000;
const setUserId = 0o4000;
const setGroupId = 0o2000;
/** O_CREAT and O_TMPFILE. */
const makesFile = 0x40 | 0x40_0000;

// Return values of the filter, from linux/seccomp.h and the error numbers of both architectures.
const allow = 0x7fff_0000;
const kill = 0x8000_0000;
const refuse = 0x0005_0000 | 1; // EPERM
const unknown = 0x0005_0000 | 38; // ENOSYS: libraries fall back to the older call

// Offsets in the data that the kernel passes to the filter.
const numberOffset = 0;
const architectureOffset = 4;
const firstArgumentOffset = 16;
const argumentSize = 8;

/** One instruction: operation, how many to skip when true and when false, operand. */
type Instruction = readonly [code: number, jumpTrue: number, jumpFalse: number, operand: number];

const load = (offset: number): Instruction => [0x20, 0, 0, offset];
/** The lower half of an argument. */
const loadArgument = (index: number): Instruction => load(firstArgumentOffset + argumentSize * index);
const keepBits = (mask: number): Instruction => [0x54, 0, 0, mask];
const skipUnlessEqual = (value: number, count: number): Instruction => [0x15, 0, count, value];
const skipIfEqual = (value: number, count: number): Instruction => [0x15, count, 0, value];
const skipIfBelow = (value: number, count: number): Instruction => [0x35, 0, count, value];
/** Skips `count` instructions unless one of the bits is set. */
const skipUnlessBit = (bit: number, count: number): Instruction => [0x45, 0, count, bit];
const end = (result: number): Instruction => [0x06, 0, 0, result];

/**
 * Returns the filter as bytes for `bwrap --seccomp`; undefined for an architecture whose call numbers are unknown. If
 * `isTeamFolder` is true, modes may have the set-group-ID bit.
 */
export function createSeccompFilter(architectureName: string, isTeamFolder: boolean): Uint8Array | undefined {
  const architecture = architectures[architectureName];
  return architecture && encodeInstructions(toInstructions(architecture, isTeamFolder));
}

/** True if the filter exists for this architecture. */
export function hasSeccompFilter(architectureName: string): boolean {
  return architectureName in architectures;
}

function toInstructions({ audit, foreignFrom, calls, modeCalls }: Architecture, isTeamFolder: boolean): Instruction[] {
  const always = (call: FilteredCall, result: number): Instruction[] => [skipUnlessEqual(calls[call], 1), end(result)];
  const ifNewUser = (call: FilteredCall): Instruction[] => [
    skipUnlessEqual(calls[call], 4),
    loadArgument(0),
    skipUnlessBit(newUserNamespace, 1),
    end(refuse),
    end(allow),
  ];
  return [
    load(architectureOffset),
    skipIfEqual(audit, 1),
    end(kill),
    load(numberOffset),
    ...(foreignFrom === undefined ? [] : [skipIfBelow(foreignFrom, 1), end(kill)]),
    ...toSocketRule(calls.socket),
    ...toPairRule(calls.socketpair),
    ...ifNewUser("clone"),
    ...ifNewUser("unshare"),
    ...always("setns", refuse),
    // These calls pass their arguments in memory, which a filter cannot read.
    ...always("clone3", unknown),
    ...always("openat2", unknown),
    ...modeCalls.flatMap((call) => toModeRule(call, isTeamFolder && call.isChange === true)),
    // A ring creates sockets without the call `socket`.
    ...(["io_uring_setup", "io_uring_enter", "io_uring_register"] as const).flatMap((call) => always(call, unknown)),
    // Namespaces do not separate keyrings.
    ...(["add_key", "request_key", "keyctl"] as const).flatMap((call) => always(call, refuse)),
    ...(["bpf", "perf_event_open", "userfaultfd"] as const).flatMap((call) => always(call, refuse)),
    end(allow),
  ];
}

function toSocketRule(call: number): Instruction[] {
  const checks = socketFamilies.map((family, index) => skipIfEqual(family, socketFamilies.length - index));
  return [skipUnlessEqual(call, checks.length + 3), loadArgument(0), ...checks, end(refuse), end(allow)];
}

function toPairRule(call: number): Instruction[] {
  const types = connectedTypes.map((type, index) => skipIfEqual(type, connectedTypes.length - index));
  const checks = [skipUnlessEqual(unixFamily, types.length + 2), loadArgument(1), keepBits(typeMask), ...types];
  return [skipUnlessEqual(call, checks.length + 3), loadArgument(0), ...checks, end(refuse), end(allow)];
}

function toModeRule({ number, mode, flags }: ModeCall, mayHaveGroupBit: boolean): Instruction[] {
  const refused = mayHaveGroupBit ? setUserId : setUserId | setGroupId;
  const rule = [loadArgument(mode), skipUnlessBit(refused, 1), end(refuse), end(allow)];
  if (flags !== undefined) rule.unshift(loadArgument(flags), skipUnlessBit(makesFile, 3));
  return [skipUnlessEqual(number, rule.length), ...rule];
}

/** Encodes each instruction as `struct sock_filter`: 16 bits, 8, 8, 32; both architectures are little-endian. */
function encodeInstructions(instructions: readonly Instruction[]): Uint8Array {
  const bytes = new DataView(new ArrayBuffer(instructions.length * 8));
  for (const [index, [code, jumpTrue, jumpFalse, operand]] of instructions.entries()) {
    bytes.setUint16(index * 8, code, true);
    bytes.setUint8(index * 8 + 2, jumpTrue);
    bytes.setUint8(index * 8 + 3, jumpFalse);
    bytes.setUint32(index * 8 + 4, operand, true);
  }
  return new Uint8Array(bytes.buffer);
}
