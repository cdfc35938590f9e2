/** Where the parts of this deployment are, as `/console.json` says it. */
export interface Service {
  /** The public API, without a slash at the end. */
  readonly api: string;
}

let known: Service = { api: '' };

/** Asked once, before the first page is shown. */
export const loadService = async (): Promise<void> => {
  known = (await (await fetch('/console.json')).json()) as Service;
};

export const service = (): Service => known;
