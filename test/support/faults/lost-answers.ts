import { answerForAws } from './aws-answers.ts';

/**
 * From now on, until mocks are restored, each write of this process to the table is done twice: what the client does by
 * itself where the first answer got lost. The caller sees the second answer.
 */
export const loseFirstAnswers = (): void => {
  answerForAws(async (asked, send) => {
    await send(asked);
    return send(asked);
  });
};

/**
 * From now on, until mocks are restored, what this process asks of the table is kept. What comes back asks all of it
 * again: first attempts that the network held back until their repetitions were long answered.
 */
export const holdFirstAttempts = (): (() => Promise<unknown>) => {
  const held: (() => Promise<unknown>)[] = [];
  answerForAws((asked, send) => {
    held.push(() => send(asked));
    return send(asked);
  });
  return () => Promise.allSettled(held.splice(0).map((arrive) => arrive()));
};
