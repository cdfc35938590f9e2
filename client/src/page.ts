/** `XMLHttpRequest`: unlike `fetch` it reports the progress of an upload. */
interface Upload {
  readonly upload: { onprogress: ((event: { readonly loaded: number }) => void) | null };
  readonly status: number;
  onload: (() => void) | null;
  onerror: ((event: unknown) => void) | null;
  onabort: ((event: unknown) => void) | null;
  abort(): void;
  open(method: string, url: string): void;
  setRequestHeader(name: string, value: string): void;
  send(body: Blob): void;
}

/** The parts of a browser's page that are used, if this runs in one. */
export interface Page {
  readonly location?: { readonly search: string; readonly hash: string };
  readonly XMLHttpRequest?: new () => Upload;
  readonly navigator?: {
    readonly credentials?: { create(options: object): Promise<unknown>; get(options: object): Promise<unknown> };
  };
  readonly PublicKeyCredential?: {
    parseCreationOptionsFromJSON(options: object): object;
    parseRequestOptionsFromJSON(options: object): object;
  };
  readonly reportError?: (error: unknown) => void;
}

export const page: Page = globalThis as Page;
