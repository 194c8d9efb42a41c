// WebGPU declarations that TypeScript lacks: constants, and experimental features of browsers.

declare const GPUBufferUsage: Readonly<
  Record<
    | "COPY_DST" | "COPY_SRC" | "INDEX" | "INDIRECT" | "MAP_READ" | "MAP_WRITE" | "QUERY_RESOLVE"
    | "STORAGE" | "UNIFORM" | "VERTEX",
    number
  >
>;
declare const GPUMapMode: Readonly<Record<"READ" | "WRITE", number>>;
declare const GPUShaderStage: Readonly<Record<"COMPUTE" | "FRAGMENT" | "VERTEX", number>>;

interface GPUComputePassEncoder {
  setImmediates(at: number, data: Uint32Array<ArrayBuffer>, begin?: number, size?: number): void;
}

interface GPUPipelineLayoutDescriptor {
  immediateSize?: number;
}

interface GPUAdapterInfo {
  subgroupMatrixConfigs?: Iterable<any>;
}
