import { isDeepStrictEqual } from 'node:util';
import type { Contender } from './contender.ts';
import { sendOne } from './one-request.ts';
import type { Name, Operation } from './operation.ts';

const seconds = 0.01;

/**
 * Sends one request to every contender. Throws if a response differs from the bare server's, because it would not do
 * the same work.
 */
export const checkAgreement = async (
  contenders: Readonly<Partial<Record<Name, Contender>>>,
  { name: operation, prepare, gist }: Operation,
  names: readonly Name[],
): Promise<void> => {
  if (!gist) return;
  const [first, ...others] = await Promise.all(
    names.map(async (name) => {
      const target = contenders[name] as Contender;
      const body = await sendOne(target, await prepare(name, target, seconds));
      return { name, said: gist(JSON.parse(body), name) };
    }),
  );
  for (const { name, said } of others) {
    if (isDeepStrictEqual(said, first?.said)) continue;
    throw new Error(
      `${operation}: the answer of ${name} is not that of ${first?.name}: ${JSON.stringify([said, first?.said])}`,
    );
  }
};
