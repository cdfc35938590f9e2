import { type VerificationRequest, verifyDatabase } from '../../shared/projects/own-database/verify-database.ts';

/** The second of the two verifiers of customers' databases; each one connects from an address of its own. */
export const handler = (request: VerificationRequest): ReturnType<typeof verifyDatabase> => verifyDatabase(request);
