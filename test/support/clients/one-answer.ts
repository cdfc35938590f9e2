import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'vitest';
import { type Answer, inParallel } from './client.ts';

type Ask = () => Promise<Pick<Answer, 'status' | 'headers' | 'body'>>;

/** Retries while the first request is running or a part did not respond in time. */
const untilAnswered = async (ask: Ask): ReturnType<Ask> => {
  const answer = await ask();
  const { status, headers, body } = answer;
  if (status !== 409 && status !== 503) return answer;
  if (status === 409) expect([body.code, headers.get('retry-after')]).toEqual(['IDEMPOTENCY_IN_PROGRESS', '1']);
  await pause(100);
  return untilAnswered(ask);
};

/** The response of 50 concurrent requests with one `Idempotency-Key`. All must be equal, with this status. */
export const oneAnswer = async (status: number, ask: Ask): Promise<Answer['body']> => {
  const answers = await inParallel(50, () => untilAnswered(ask));
  const [first = '', ...others] = new Set(answers.map((answer) => JSON.stringify([answer.status, answer.body])));
  expect(others).toEqual([]);
  expect(answers[0]?.status, first).toBe(status);
  return answers[0]?.body ?? {};
};
