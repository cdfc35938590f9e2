import { currentRequest } from '../../core/log.ts';
import { endWithoutAnswer, keepAnswer } from '../../work/once/kept-answer.ts';
import type { Reply } from '../reply.ts';
import type { AnswerHeaders } from './error-envelope.ts';
import type { Middleware } from './middleware-types.ts';
import type { WithRun } from './once.ts';

/** Failures after which nothing was written, so that the key is free again. */
const withoutEffect = new Set<string | undefined>(['TOO_MANY_WRITERS', 'NOT_SET_UP']);

interface Ended {
  readonly context: WithRun & Partial<AnswerHeaders>;
  readonly response?: Reply | null | undefined;
}

const keep = async ({ context: { run, answerHeaders = {} }, response }: Ended): Promise<void> => {
  if (!run || !response) return;
  const { statusCode, headers, body } = response;
  if (statusCode >= 500) {
    await endWithoutAnswer(run, withoutEffect.has(currentRequest.getStore()?.code));
    return;
  }
  // The id and the standing with the limits are those of each request.
  const own = Object.entries(headers).filter(([name]) => !Object.hasOwn(answerHeaders, name));
  await keepAnswer(run, { statusCode, headers: Object.fromEntries(own), body });
};

/** Keeps what a run of `once` answers; it stands before what makes the answer, and so sees it as it leaves. */
export const keptAnswers = (): Middleware<unknown, Ended['context']> => ({
  before: () => ({}),
  after: keep,
  onError: keep,
});
