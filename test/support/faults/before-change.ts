import { Collection } from 'mongodb';
import { vi } from 'vitest';

type Change = 'deleteOne' | 'findOneAndUpdate' | 'insertOne' | 'updateOne';
type Method = (this: Collection, ...rest: unknown[]) => Promise<unknown>;

/** The driver's methods without their overloads, which no replacement could fit. */
const methods: Record<Change, Method> = Object(Collection.prototype);

/**
 * Runs `act` before the `at`-th change of this kind (from 1) that this process makes from now on, until mocks are
 * restored: between what was read for it and the change itself. The changes of `act` are not counted.
 */
export const beforeChange = (kind: Change, at: number, act: () => Promise<unknown>): void => {
  const change = methods[kind];
  let changes = 0;
  vi.spyOn(methods, kind).mockImplementation(async function (this: Collection, ...rest: unknown[]) {
    changes += 1;
    if (changes === at) await act();
    return change.apply(this, rest);
  });
};
