import { AppError } from '../core/errors.ts';
import { jsonOf, responseBytes } from '../core/json.ts';

/**
 * A page never exceeds 5 MiB of an answer (contract 2, "List"), and neither does a document that is written (contract
 * 2, "Insert"); what stands around the documents has its room here.
 */
export const maxPageBytes = 5 * 1024 * 1024 - 4096;

/** The refusal of a numbered page that does not fit (400). `fitting`: how many of it do; `ways`: what helps. */
export const pageTooLarge = (fitting: number, ways: string): AppError =>
  new AppError(
    'RESULT_TOO_LARGE',
    `This page is larger than 5 MiB of JSON, in which each quote and backslash counts twice: only ${fitting} of its documents fit. ${ways}`,
  );

/** How many times longer BSON may become in an answer: a control character is one byte there, seven here. */
export const answerPerBson = 7;

/** Room for the defaults of system fields that a stored document lacks, and for the comma after it. */
const presentation = 64;

/** Bytes that a document of so many bytes of BSON cannot exceed in an answer. */
export const boundOf = (bsonBytes: number): number => bsonBytes * answerPerBson + presentation;

/** Bytes that a value takes in an answer, the comma after it included. */
export const measured = (value: unknown): number => responseBytes(jsonOf(value)) + 1;

/** What counts into a page: a bound that is free and a measure that costs. */
export interface Measured {
  /** Bytes that it cannot exceed. */
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
