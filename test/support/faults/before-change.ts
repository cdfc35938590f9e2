import { Collection } from 'mongodb';
import { vi } from 'vitest';

type Change = 'deleteOne' | 'findOneAndUpdate' | 'insertOne' | 'updateOne';
type Method = (this: Collection, ...rest: unknown[]) => Promise<unknown>;

/** The driver's methods without overloads, so that they can be replaced. */
const methods: Record<Change, Method> = Object(Collection.prototype);

/**
 * Runs `act` immediately before the `at`-th change of this kind (from 1) in this process, until mocks are restored.
 * Changes of `act` do not count.
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
