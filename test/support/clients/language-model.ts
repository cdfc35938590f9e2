import type { HttpFault, Reply } from '../faults/fault.ts';
import { HttpProxy, type HttpRequest } from '../faults/http-proxy.ts';

/** What the stand-in does with one request: completes with this text, says exactly this, cuts, or never answers. */
export type Say = string | Reply | 'cut' | 'hang';

/** What a completion is asked for with. */
interface Prompt extends Readonly<Record<string, unknown>> {
  readonly model: string;
  readonly messages: readonly { readonly role: string; readonly content: string }[];
}

const faultOf = (say: Say): HttpFault => {
  if (typeof say !== 'string' || say === 'cut' || say === 'hang') return say as HttpFault;
  return { body: { choices: [{ index: 0, message: { role: 'assistant', content: say }, finish_reason: 'stop' }] } };
};

/** An endpoint that speaks OpenAI's `chat/completions` and says what a test tells it to, the last thing ever after. */
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

  /** What it was asked since it was last told what to say. */
  get asked(): readonly (HttpRequest & { readonly body: Prompt })[] {
    return this.#proxy.asked as readonly (HttpRequest & { readonly body: Prompt })[];
  }

  /** From now on says these, one a request. */
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
