// What our own pages keep on globalThis.

/** Where browsergpu finds a worker's canvases, by their ids. */
declare var browsergpuCanvases: Map<string, OffscreenCanvas> | undefined;
/** What takes a file for the browser's downloads, in a worker. */
declare var browsergpuDownload: ((name: string, bytes: Uint8Array) => void) | undefined;
declare var browsergpuNagaUrl: string | undefined;

// Of the pages in tests/browser/pages; bareSettled and bareReport are Playwright's bindings.
declare var bare: { start(id: number, method: string, ...args: unknown[]): void };
declare var bareSettled: (id: number, succeeded: boolean, value: unknown) => void;
declare var bareReport: (json: string) => void;
declare var reportTest: (json: string) => void;
declare var gpuWatch: { devices: GPUDevice[] } & Record<string, number | GPUDevice[]>;
