import { AppError } from '../core/errors.ts';
import { jsonOf, responseBytes } from '../core/json.ts';

/**
 * A page never exceeds 5 MiB of a response (contract 2, "List"), and neither does a written document (contract 2,
 * "Insert"). The difference leaves room for the rest of the response.
 */
export const maxPageBytes = 5 * 1024 * 1024 - 4096;

/** The error of a numbered page that is too large (400). `fitting` is how many documents fit; `ways` is what helps. */
export const pageTooLarge = (fitting: number, ways: string): AppError =>
  new AppError(
    'RESULT_TOO_LARGE',
    `This page is larger than 5 MiB of JSON (each quote and backslash counts twice). Only ${fitting} of its documents fit. ${ways}`,
  );

/** How much longer BSON may become in a response: a control character has one byte there and seven here. */
export const answerPerBson = 7;

/** Room for the defaults of missing system fields and the comma after a document. */
const presentation = 64;

/** The maximum bytes in a response for a document of so many bytes of BSON. */
export const boundOf = (bsonBytes: number): number => bsonBytes * answerPerBson + presentation;

/** The bytes of a value in a response, with the comma after it. */
export const measured = (value: unknown): number => responseBytes(jsonOf(value)) + 1;

/** A size with a free upper bound and an exact measure that costs time. */
export interface Measured {
  /** The upper bound in bytes. */
  readonly atMost: number;
  exact(): number;
}

/** Adds up a page. Small pages are never measured, because their bound is enough. */
export class PageBudget {
  #bound = 0;
  #spent = 0;
  #unmeasured: Measured[] = [];

  /** Adds a document. Returns false if the page becomes too large. */
  add(item: Measured): boolean {
    this.#bound += item.atMost;
    this.#unmeasured.push(item);
    if (this.#bound <= maxPageBytes) return true;
    for (const each of this.#unmeasured) this.#spent += each.exact();
    this.#unmeasured = [];
    return this.#spent <= maxPageBytes;
  }
}
