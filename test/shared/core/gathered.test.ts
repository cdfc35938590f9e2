import { expect, test } from 'vitest';
import { batched } from '../../../shared/core/concurrency.ts';

test('calls made during a run form the next batch', async () => {
  const done: (readonly number[])[] = [];
  const began = Promise.withResolvers<void>();
  const begin = Promise.withResolvers<void>();
  const act = batched<number>(async (all) => {
    done.push(all);
    began.resolve();
    await begin.promise;
  });
  const first = act(1);
  await began.promise;
  const others = [act(2), act(3), act(4)];
  begin.resolve();
  await Promise.all([first, ...others]);
  await act(5);
  expect(done).toEqual([[1], [2, 3, 4], [5]]);
});

test('a failed batch rejects only its own calls', async () => {
  const act = batched<string>((all) => (all.includes('bad') ? Promise.reject(new Error('bad')) : Promise.resolve()));
  const outcomes = await Promise.allSettled([act('bad'), act('with it')]);
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  await expect(act('good')).resolves.toBeUndefined();
});
