import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'vitest';
import { type Answer, inParallel } from './client.ts';

type Ask = () => Promise<Pick<Answer, 'status' | 'headers' | 'body'>>;

/** One that is told to come again does so: while the first is under way, or where a part did not answer in its time. */
const untilAnswered = async (ask: Ask): ReturnType<Ask> => {
  const answer = await ask();
  const { status, headers, body } = answer;
  if (status !== 409 && status !== 503) return answer;
  if (status === 409) expect([body.code, headers.get('retry-after')]).toEqual(['IDEMPOTENCY_IN_PROGRESS', '1']);
  await pause(100);
  return untilAnswered(ask);
};

/** What 50 at once with one `Idempotency-Key` are answered, all of them the same and with this status. */
export const oneAnswer = async (status: number, ask: Ask): Promise<Answer['body']> => {
  const answers = await inParallel(50, () => untilAnswered(ask));
  const [first = '', ...others] = new Set(answers.map((answer) => JSON.stringify([answer.status, answer.body])));
  expect(others).toEqual([]);
  expect(answers[0]?.status, first).toBe(status);
  return answers[0]?.body ?? {};
};
