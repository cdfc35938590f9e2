import { ask, onceBack } from './ask.ts';
import { problemOf } from './problem.ts';

/** Where the parts of this deployment are, as `/console.json` says it. */
export interface Service {
  /** The public API, without a slash at the end. */
  readonly api: string;
  /** Whether there is a schema assistant. */
  readonly assistant: boolean;
}

let known: Service = { api: '', assistant: false };

/** Asked before the first page is shown, until it answers. */
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
