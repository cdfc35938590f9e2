import { answerForAws } from './aws-answers.ts';

/**
 * Repeats each write of this process to the table until mocks are restored, like the client does when a response is
 * lost. The caller sees the second response.
 */
export const loseFirstAnswers = (): void => {
  answerForAws(async (asked, send) => {
    await send(asked);
    return send(asked);
  });
};

/**
 * Records this process's requests to the table until mocks are restored. Returns a function that sends all of them
 * again, like delayed first attempts.
 */
export const holdFirstAttempts = (): (() => Promise<unknown>) => {
  const held: (() => Promise<unknown>)[] = [];
  answerForAws((asked, send) => {
    held.push(() => send(asked));
    return send(asked);
  });
  return () => Promise.allSettled(held.splice(0).map((arrive) => arrive()));
};
