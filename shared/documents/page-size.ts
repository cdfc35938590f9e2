import type { Document } from './document.ts';

/** A page never exceeds 5 MiB of JSON (contract 2, "List"); what stands around the documents has its room here. */
const maxPageBytes = 5 * 1024 * 1024 - 4096;

/** No BSON becomes longer than this many times its size as JSON: a control character is one byte there and six here. */
export const jsonPerBson = 6;

/** Room for the defaults of system fields that a stored document lacks, and for the comma after it. */
const presentation = 64;

/** A document together with its size as JSON, measured only when somebody asks. */
export class Sized {
  readonly document: Document;
  /** Bytes of JSON that it cannot exceed. */
  readonly atMost: number;
  #exact: number | undefined;

  /** `bsonBytes` is the size of the stored document, a bound that costs nothing. */
  constructor(document: Document, bsonBytes: number) {
    this.document = document;
    this.atMost = bsonBytes * jsonPerBson + presentation;
  }

  /** Bytes of JSON, the comma after it included. */
  exact(): number {
    this.#exact ??= Buffer.byteLength(JSON.stringify(this.document)) + 1;
    return this.#exact;
  }
}

/** What counts into a page: a bound that is free and a measure that costs. */
export interface Measured {
  readonly atMost: number;
  exact(): number;
}

/** Adds up a page. Small pages are never measured: their bound alone shows that they fit. */
export class PageBudget {
  #bound = 0;
  #spent = 0;
  #unmeasured: Measured[] = [];

  /** Counts one more document in; false if the page is too large with it. */
  add(item: Measured): boolean {
    this.#bound += item.atMost;
    this.#unmeasured.push(item);
    if (this.#bound <= maxPageBytes) return true;
    for (const each of this.#unmeasured) this.#spent += each.exact();
    this.#unmeasured = [];
    return this.#spent <= maxPageBytes;
  }
}
