import type { HttpFault, Reply } from '../faults/fault.ts';
import { HttpProxy, type HttpRequest } from '../faults/http-proxy.ts';

/** The fake's reaction to a request: a completion with this text, a fixed response, a cut connection, or none. */
export type Say = string | Reply | 'cut' | 'hang';

/** The body of a completion request. */
interface Prompt extends Readonly<Record<string, unknown>> {
  readonly model: string;
  readonly messages: readonly { readonly role: string; readonly content: string }[];
}

const faultOf = (say: Say): HttpFault => {
  if (typeof say !== 'string' || say === 'cut' || say === 'hang') return say as HttpFault;
  return { body: { choices: [{ index: 0, message: { role: 'assistant', content: say }, finish_reason: 'stop' }] } };
};

/** A fake of OpenAI's `chat/completions` with scripted responses; the last one repeats. */
export class LanguageModel {
  readonly url: string;
  readonly #proxy: HttpProxy;

  private constructor(proxy: HttpProxy) {
    this.#proxy = proxy;
    this.url = `${proxy.url}/v1`;
  }

  static async start(): Promise<LanguageModel> {
    return new LanguageModel(await HttpProxy.start());
  }

  /** The requests since the last script. */
  get asked(): readonly (HttpRequest & { readonly body: Prompt })[] {
    return this.#proxy.asked as readonly (HttpRequest & { readonly body: Prompt })[];
  }

  /** Sets the responses, one per request. */
  says(...says: readonly Say[]): void {
    this.#proxy.asked.length = 0;
    this.#proxy.heal();
    for (const [place, say] of says.entries()) {
      this.#proxy.meet(faultOf(say), place < says.length - 1 ? { times: 1 } : {});
    }
  }

  close(): Promise<void> {
    return this.#proxy.close();
  }
}
