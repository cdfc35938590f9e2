/** Two verifiers, each with its own address. */
export { verifyDatabase as handler } from '../../shared/customer-database/verification.ts';
