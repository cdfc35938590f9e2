import { getObject, putObject } from '../../clients/objects.ts';
import { orLog } from '../../core/log.ts';
import { type KeptAnswer, noteAnswer, noteFailure, type Run } from './claim.ts';

/** An answer as it was given. */
export interface WholeAnswer {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Where the large answers of a project are in our bucket, for two days. */
export const answerPrefix = (projectId: string): string => `answers/${projectId}/`;

/** Beyond it an object costs less than the item's room, and an item may have 400 KB at most. */
const maxItemBytes = 64 * 1024;

const place = async ({ projectId, runId }: Run, body: string): Promise<Pick<KeptAnswer, 'body' | 'stored'>> => {
  if (Buffer.byteLength(body) <= maxItemBytes) return { body };
  const stored = `${answerPrefix(projectId)}${runId}`;
  await putObject(stored, body);
  return { stored };
};

/** What is written down afterwards is for repeats alone, so not to have written it is no failure. */
const attempt = async (note: () => Promise<void>): Promise<void> => {
  await orLog('warn', { message: 'What came of a request with an Idempotency-Key was not kept' }, note);
};

/** Keeps the answer of a run, whatever its size. */
export const keepAnswer = (run: Run, { statusCode: status, headers, body }: WholeAnswer): Promise<void> =>
  attempt(async () => noteAnswer(run, { status, headers: JSON.stringify(headers), ...(await place(run, body)) }));

/** Ends a run that has no answer to keep. */
export const endWithoutAnswer = (run: Run, nothingDone: boolean): Promise<void> =>
  attempt(() => noteFailure(run, { nothingDone }));

/** The answer that was kept; `undefined` where its object is gone. */
export const keptAnswer = async ({ status, headers, body, stored }: KeptAnswer): Promise<WholeAnswer | undefined> => {
  const text = stored === undefined ? (body ?? '') : await getObject(stored);
  return text === undefined ? undefined : { statusCode: status, headers: JSON.parse(headers), body: text };
};
