export { maintainTransfers as handler } from '../../shared/transfers/run-transfer.ts';
