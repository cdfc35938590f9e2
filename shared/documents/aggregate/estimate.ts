/** What evaluating an expression once may take at most. */
export interface Estimate {
  /** Bytes of BSON that its result would take. */
  readonly weight: number;
  /** As much of it as copying the result copies: a list that is written out is copied without what is in it. */
  readonly flat: number;
  /** Elements that it has if it is an array; as many as fit where it says nothing. */
  readonly count?: number;
  /**
   * Bytes of memory that the result takes which were not there before: a field's value that is handed on takes none.
   */
  readonly held: number;
  /** Bytes of memory in all, with everything made on the way. */
  readonly work: number;
}

/** What is known of the documents that a stage is given. */
export interface Bounds {
  /** Bytes of BSON of one document. */
  readonly document: number;
  /** Elements of an array that is named by a plain path, such as `$tags`. */
  readonly elements: number;
}

export const nothing: Estimate = { weight: 0, flat: 0, held: 0, work: 0 };
export const scalar: Estimate = { weight: 32, flat: 32, held: 32, work: 32 };

/** A value that stands there already. */
export const given = (weight: number): Estimate => ({ ...nothing, weight, flat: weight });

export const sumOf = (estimates: readonly Estimate[]): Estimate =>
  estimates.reduce(
    (sum, { weight, flat, held, work }) => ({
      weight: sum.weight + weight,
      flat: sum.flat + flat,
      held: sum.held + held,
      work: sum.work + work,
    }),
    nothing,
  );

/** One of them, nobody knows which; all of them may have been worked out. */
export const oneOf = (estimates: readonly Estimate[]): Estimate => ({
  weight: Math.max(0, ...estimates.map(({ weight }) => weight)),
  flat: Math.max(0, ...estimates.map(({ flat }) => flat)),
  held: Math.max(0, ...estimates.map(({ held }) => held)),
  work: sumOf(estimates).work,
});

/**
 * Elements that an array of so many bytes of BSON has at most: one takes 3 bytes in a short array, over 4.5 in a long
 * one.
 */
export const elementsIn = (bytes: number): number => Math.max(Math.min(bytes, 5000) / 3, bytes / 4.5);

/** Bytes that a variable has at most, or what a name of one of its fields has. */
export type Variable = (segment: string | undefined) => number;
export type Scope = ReadonlyMap<string, Variable>;

/** What estimates the expressions inside an operator. */
export interface Expressions {
  readonly bounds: Bounds;
  readonly of: (expression: unknown, scope: Scope) => Estimate;
  /** Elements that an array has at most; how many a plain path has is bound. */
  readonly elementsOf: (expression: unknown, estimate: Estimate) => number;
}
