// What createRecorder is called with, and the shapes that the recorder's modules share.

declare const device: GPUDevice;
declare const ring: PythonBuffer;
declare const options: { dispatchesPerSubmit: number };

/** Python's memory, as Pyodide's PyProxy gives it. */
interface PythonBuffer {
  getBuffer(type: "u8"): PythonView<Uint8Array<ArrayBuffer>>;
  getBuffer(type: "u32"): PythonView<Uint32Array<ArrayBuffer>>;
}

interface PythonView<T> {
  data: T;
  release(): void;
}

/** A buffer that Python knows by its id. */
interface BufferEntry {
  buffer: GPUBuffer;
  groups: Set<CachedGroup>;
  /** The last batch that uses it. */
  batch: number;
}

/** A bind group, under its key among the groups of its layout. */
interface CachedGroup {
  group: GPUBindGroup;
  entries: BufferEntry[];
  /** The last batch that uses it. */
  batch: number;
  shared: SharedLayout;
  key: GroupKey;
}

type GroupKey = number | string;

/** What pipelines of one signature share. */
interface SharedLayout {
  layout: GPUBindGroupLayout;
  bindings: GPUBindGroupLayoutEntry[];
  pipelineLayouts: Map<number | "uniform", GPUPipelineLayout>;
  groups: Map<GroupKey, CachedGroup>;
}

/** What Python says of a pipeline. */
interface PipelineSpec {
  label: string;
  file: string;
  /** The files that the code is joined from, each with its first line there, and where the user's
   * code has brought it, if that did. */
  sections: Section[];
  code: string;
  entryPoint: string;
  /** "0r1w": per binding its number, then r (read-only storage), w (storage that is written too)
   * or u (uniform). */
  signature: string;
  constants: Record<string, number>;
  parameterBytes: number;
  immediate: boolean;
  sized: boolean;
  /** Where the user's code has asked for it. */
  recorded: string;
}

type Section = [file: string, first: number, recorded?: string];

/** What is known of the time that commands of one kind take. */
interface Pace {
  /** Milliseconds of a workgroup, or of a byte that is copied; 0 while nothing is known. */
  each: number;
  /** Workgroups or bytes that were encoded and not sent. */
  open: number;
  /** Those that were sent, and are not known to be done. */
  sent: number;
  /** Commands that came while nothing was known. */
  untimed: number;
}

/** A pipeline that Python knows by its id. */
interface Step {
  id: number;
  label: string;
  sections: Section[];
  recorded: string;
  shared: SharedLayout;
  bindings: number;
  sized: boolean;
  /** Words of a command that say what to bind. */
  bindingWords: number;
  keyWidth: number;
  /** Of parameters. */
  words: number;
  uniform: boolean;
  pace: Pace;
  /** Null until it is compiled; of a refused one, null or invalid. */
  pipeline: GPUComputePipeline | null;
  /** Whether a command needs it. */
  wanted: boolean;
  refused: boolean;
  /** The arguments of report, once they are known. */
  failure: Complaint | null;
  /** The last batch that uses it. */
  batch: number;
  /** Settles when it is compiled or refused. */
  compiling: Promise<void>;
  /** Null once it is compiled. */
  module: GPUShaderModule | null;
  descriptor: GPUComputePipelineDescriptor | null;
}

type Complaint = [kind: string, op: string, message: string, extra?: object];

/** Why nothing comes from the GPU any more. */
interface Loss {
  kind: "lost" | "closed";
  op: string;
  message: string;
}

/** The GPU's time from one call to another. */
interface Timing {
  queries: GPUQuerySet;
  begun: boolean;
}

/** The time of each dispatch by itself. */
interface Profile {
  /** Whether by the GPU's clock, else by wall time. */
  timestamps: boolean;
  /** How many so far. */
  dispatches: number;
  sets: { queries: GPUQuerySet; used: number; numbers: number[] }[];
  /** Start and end in ns, by the dispatch's number. */
  spans: Map<number, Span>;
  /** By wall time. */
  lastEnd: number;
}

type Span = [start: number, end: number];

/** Part of a read: a mappable buffer, and where its bytes belong. */
interface Chunk {
  staging: GPUBuffer;
  at: number;
  size: number;
  /** Resolves to what is wrong, or null. */
  mapped: Promise<unknown>;
}

/** A read on its way. */
interface ReadJob {
  source: GPUBuffer;
  offset: number;
  size: number;
  /** Bytes. */
  sent: number;
  chunks: Chunk[];
  stopped: boolean;
}
