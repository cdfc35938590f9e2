import { randomUUID } from 'node:crypto';

const applicationId = 'bench';
const masterKey = randomUUID();
const restKey = randomUUID();

/** What the peer is started with. */
export const parseEnvironment = {
  PEER_APP_ID: applicationId,
  PEER_MASTER_KEY: masterKey,
  PEER_REST_KEY: restKey,
} as const;

const application = { 'x-parse-application-id': applicationId };

/** The headers of a caller with all rights, as one with the secret key of a project has them. */
export const asServer = { ...application, 'x-parse-master-key': masterKey } as const;

/** Those of an app, as one with the publishable key. */
export const asApp = { ...application, 'x-parse-rest-api-key': restKey } as const;
