import * as v from 'valibot';
import { invokeFunction } from '../../clients/lambda.ts';
import type { DatabaseUri } from '../../clients/own-databases/database-uri.ts';
import { verifierSettings } from '../../core/config.ts';
import { requestIdNow } from '../../core/log.ts';
import { seal } from '../sealed.ts';
import { accessDenied, notConnected, notVerified, restrictedUri } from './database-errors.ts';
import { type Verdict, verdicts } from './verdict.ts';
import { type VerificationRequest, verificationId } from './verify-database.ts';

/** Contract 7: the time for the whole verification. */
const limitMs = 9500;

const Answer = v.object({ verdict: v.picklist(verdicts) });

const ask = async (verifier: string, request: VerificationRequest): Promise<Verdict> =>
  v.parse(Answer, await invokeFunction(verifier, request, limitMs)).verdict;

const refusalFor = (found: readonly Verdict[], host: string) => {
  if (found.includes('restricted')) return restrictedUri();
  if (found.includes('connected') || !found.includes('unreachable')) return accessDenied(host);
  return notConnected();
};

/**
 * Has a database verified by both verifiers at once, each from an address of its own; they are sent the URI sealed.
 * Both must come in, else 400 with one of the four messages of contract 7, which says which is for what.
 */
export const requireAccess = async (projectId: string, text: string, { seeds }: DatabaseUri): Promise<void> => {
  const { VERIFIER_A, VERIFIER_B } = verifierSettings();
  const request = { projectId, sealedUri: await seal(text, verificationId(projectId)), requestId: requestIdNow() };
  const found = await Promise.all([ask(VERIFIER_A, request), ask(VERIFIER_B, request)]).catch((error: unknown) => {
    throw notVerified(error);
  });
  if (found.some((verdict) => verdict !== 'connected')) throw refusalFor(found, seeds[0]?.host ?? '');
};
