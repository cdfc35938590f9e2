import { isIP } from 'node:net';
import * as v from 'valibot';
import { invokeFunction } from '../../clients/lambda.ts';
import type { DatabaseUri } from '../../clients/own-databases/database-uri.ts';
import { egressSettings, verifierSettings } from '../../core/config.ts';
import { AppError } from '../../core/errors.ts';
import { requestIdNow } from '../../core/log.ts';
import { seal } from '../sealed.ts';
import { type Verdict, verdicts } from './verdict.ts';
import { type VerificationRequest, verificationId } from './verify-database.ts';

/** The URI is malformed or unsupported, or points to a restricted host. */
export const restrictedUri = (cause?: unknown): AppError =>
  new AppError(
    'DATABASE_URI_RESTRICTED',
    'DB URI is pointing to a restricted host, internal network, or unsupported URI format.',
    { cause },
  );

const providers: readonly (readonly [domain: string, name: string])[] = [
  ['mongodb.net', 'MongoDB Atlas'],
  ['cosmos.azure.com', 'Azure Cosmos DB'],
  ['documents.azure.com', 'Azure Cosmos DB'],
];

const providerOf = (host: string): string =>
  providers.find(([domain]) => host.endsWith(`.${domain}`))?.[1] ?? 'your database provider';

/** The two addresses that the verifiers connect from; a text that says so where they are not set up. */
export const serverAddresses = (): readonly [string, string] => {
  const { VERIFIER_IP_A, VERIFIER_IP_B } = egressSettings();
  return [VERIFIER_IP_A, VERIFIER_IP_B];
};

const whatToLetIn = (provider: string): string => {
  const addresses = serverAddresses();
  return addresses.every((address) => isIP(address) > 0)
    ? `Please whitelist Server IPs ${[...new Set(addresses)].join(', ')} in ${provider}`
    : `this service connects from changing addresses. Let in connections from anywhere (0.0.0.0/0) in ${provider}: user, password and TLS protect the database. Or ask the operator of the service for fixed addresses.`;
};

/** A server answered but did not accept the connections of both verifiers. */
export const accessDenied = (host: string): AppError =>
  new AppError('DATABASE_ACCESS_DENIED', `Access Denied: ${whatToLetIn(providerOf(host))}`);

/** Contract 7: the time for the whole verification. */
const limitMs = 9500;

const Answer = v.object({ verdict: v.picklist(verdicts) });

const ask = async (verifier: string, request: VerificationRequest): Promise<Verdict> =>
  v.parse(Answer, await invokeFunction(verifier, request, limitMs)).verdict;

const refusalFor = (found: readonly Verdict[], host: string) => {
  if (found.includes('restricted')) return restrictedUri();
  if (found.includes('connected') || !found.includes('unreachable')) return accessDenied(host);
  return new AppError('DATABASE_NOT_CONNECTED', 'Could not connect to the provided MongoDB URI.');
};

/**
 * Has a database verified by both verifiers at once, each from an address of its own; they are sent the URI sealed.
 * Both must come in, else 400 with one of the four messages of contract 7, which says which is for what.
 */
export const requireAccess = async (projectId: string, text: string, { seeds }: DatabaseUri): Promise<void> => {
  const { VERIFIER_A, VERIFIER_B } = verifierSettings();
  const request = { projectId, sealedUri: await seal(text, verificationId(projectId)), requestId: requestIdNow() };
  const found = await Promise.all([ask(VERIFIER_A, request), ask(VERIFIER_B, request)]).catch((cause: unknown) => {
    throw new AppError(
      'DATABASE_NOT_VERIFIED',
      'Public API verification could not be completed (network/timeout). Please try again later.',
      { cause },
    );
  });
  if (found.some((verdict) => verdict !== 'connected')) throw refusalFor(found, seeds[0]?.host ?? '');
};
