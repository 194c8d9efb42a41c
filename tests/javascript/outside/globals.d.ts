// Properties that our own pages set on globalThis.

/** A worker's canvases, by id. */
declare var browsergpuCanvases: Map<string, OffscreenCanvas> | undefined;
/** Downloads a file in the browser, from a worker. */
declare var browsergpuDownload: ((name: string, bytes: Uint8Array) => void) | undefined;
declare var browsergpuNagaUrl: string | undefined;

// Of the pages in tests/browser/pages; bareSettled and bareReport are Playwright's bindings.
declare var bare: { start(id: number, method: string, ...args: unknown[]): void };
declare var bareSettled: (id: number, succeeded: boolean, value: unknown) => void;
declare var bareReport: (json: string) => void;
declare var reportTest: (json: string) => void;
declare var gpuWatch: { devices: GPUDevice[] } & Record<string, number | GPUDevice[]>;
