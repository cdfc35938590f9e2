import { randomUUID } from 'node:crypto';

const applicationId = 'bench';
const masterKey = randomUUID();
const restKey = randomUUID();

export const parseEnvironment = {
  PEER_APP_ID: applicationId,
  PEER_MASTER_KEY: masterKey,
  PEER_REST_KEY: restKey,
} as const;

const application = { 'x-parse-application-id': applicationId };

/** Headers with all permissions, like a project's secret key. */
export const asServer = { ...application, 'x-parse-master-key': masterKey } as const;

/** Headers of an app, like the publishable key. */
export const asApp = { ...application, 'x-parse-rest-api-key': restKey } as const;
