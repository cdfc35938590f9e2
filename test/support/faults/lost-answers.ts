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
