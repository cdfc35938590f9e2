import { ask, onceBack } from './ask.ts';
import { problemOf } from './problem.ts';

/** The addresses of this deployment, from `/console.json`. */
interface Service {
  /** The public API, without a trailing slash. */
  readonly api: string;
  readonly assistant: boolean;
}

let known: Service = { api: '', assistant: false };

/** Retries until it is answered, before the first page is shown. */
export const loadService = async (): Promise<void> => {
  try {
    const { api, assistant } = await ask('/console.json', {});
    known = { api: String(api), assistant: assistant === true };
  } catch (error) {
    if (problemOf(error).status !== 0) throw error;
    await new Promise<void>((resolve) => onceBack(resolve));
    await loadService();
  }
};

export const service = (): Service => known;
