/** The first of the two verifiers of customers' databases; each one connects from an address of its own. */
export { verifyDatabase as handler } from '../../shared/customer-database/verification.ts';
