import { setTimeout as pause } from 'node:timers/promises';
import type { Service } from './service.ts';

interface Page extends Record<string, unknown> {
  readonly data: {
    readonly changes: readonly { readonly _id: string; readonly rev: number; readonly deleted?: true }[];
    readonly next: string;
    readonly more: boolean;
  };
}

/** Follows the changes feed of `fed`, like an app that keeps a copy. */
export class FeedReader {
  /** The last change of each document in the feed. */
  readonly #known = new Map<string, { readonly rev: number; readonly deleted: boolean }>();
  readonly problems: string[] = [];
  readonly #service: Service;
  #since = '0';
  changes = 0;

  constructor(service: Service) {
    this.#service = service;
  }

  async #read(wait: number): Promise<boolean> {
    const path = `/api/data/fed/changes?since=${encodeURIComponent(this.#since)}&limit=1000&wait=${wait}`;
    const response = await this.#service.api<Page>('GET', path);
    if (!response || response.status >= 500) {
      await pause(100);
      return true;
    }
    if (response.status !== 200) throw new Error(`The feed responded with ${JSON.stringify(response.body)}`);
    const { changes, next, more } = response.body.data;
    for (const { _id, rev, deleted = false } of changes) {
      const before = this.#known.get(_id);
      if (before && rev < before.rev) this.problems.push(`${_id}: revision ${rev} came after ${before.rev}`);
      this.#known.set(_id, { rev, deleted });
    }
    this.changes += changes.length;
    this.#since = next;
    return more || changes.length > 0;
  }

  async follow(isOver: () => boolean): Promise<void> {
    while (!isOver()) await this.#read(2);
  }

  /** Reads the rest, and compares the copy with the revisions of the documents that exist. */
  async finish(revisions: ReadonlyMap<string, number>): Promise<readonly string[]> {
    // The feed holds changes back until no earlier one can appear.
    await pause(3000);
    while (await this.#read(1));
    for (const [id, rev] of revisions) {
      const known = this.#known.get(id);
      if (known?.rev !== rev || known.deleted) {
        this.problems.push(`${id} has revision ${rev}, but the feed said ${JSON.stringify(known)}`);
      }
    }
    for (const [id, { deleted }] of this.#known) {
      if (!deleted && !revisions.has(id)) this.problems.push(`${id} does not exist, but the feed does not say so`);
    }
    return this.problems;
  }
}
