import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import type { Answer } from '../support/clients/client.ts';

/** The models of the checker, in `checker/`. */
export type Model = 'document' | 'once' | 'member' | 'session' | 'unique' | 'upsert';

/** An operation on one object, which `key` names. Fields of `input` and `output` are those of the model. */
export interface Operation {
  readonly model: Model;
  readonly key: string;
  readonly input: Readonly<Record<string, unknown>>;
}

/** The content of a known response. `undefined` if the operation had no effect and the response has no content. */
export type Output = Readonly<Record<string, unknown>> | undefined;

/** True if a response leaves open whether the operation was carried out. */
export const isUnknown = (response: Answer<unknown> | undefined): boolean => !response || response.status >= 500;

/** After an unknown outcome, so that an outage does not fill the history. */
const pauseMs = 250;

/** Writes operations as JSON lines. Times are nanoseconds of one clock. */
export class History {
  readonly #file: ReturnType<typeof createWriteStream>;
  total = 0;
  /** The number of operations with an unknown outcome, by model. */
  readonly unknown: Partial<Record<Model, number>> = {};

  constructor(file: string) {
    this.#file = createWriteStream(file);
  }

  /** Sends an operation and writes it down. Returns its response. */
  async record<Body>(
    client: number,
    operation: Operation,
    send: () => Promise<Answer<Body> | undefined>,
    outputOf: (response: Answer<Body>) => Output,
  ): Promise<Answer<Body> | undefined> {
    const begin = process.hrtime.bigint();
    const response = await send();
    const end = process.hrtime.bigint();
    const unknown = !response || isUnknown(response);
    if (unknown) await pause(pauseMs);
    const output = unknown ? undefined : outputOf(response);
    if (!unknown && !output) return response;
    this.total += 1;
    if (unknown) this.unknown[operation.model] = (this.unknown[operation.model] ?? 0) + 1;
    const line = { ...operation, client, call: Number(begin), ...(output && { return: Number(end), output }) };
    if (!this.#file.write(`${JSON.stringify(line)}\n`)) await once(this.#file, 'drain');
    return response;
  }

  async close(): Promise<void> {
    this.#file.end();
    await once(this.#file, 'finish');
  }
}
