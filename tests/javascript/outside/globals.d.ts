// What our own pages keep on globalThis.

/** Where browsergpu finds a worker's canvases, by their ids. */
declare var browsergpuCanvases: Map<string, OffscreenCanvas> | undefined;
declare var browsergpuNagaUrl: string | undefined;

// Of the pages in tests/browser/pages; bareSettled and bareReport are Playwright's bindings.
declare var bare: { start(id: number, method: string, ...args: unknown[]): void };
declare var bareSettled: (id: number, succeeded: boolean, value: unknown) => void;
declare var bareReport: (json: string) => void;
declare var reportTest: (json: string) => void;
declare var gpuWatch: { devices: GPUDevice[] } & Record<string, number | GPUDevice[]>;
