import { DeployProblem } from './deploy-problem.ts';
import type { DeploymentSettings } from './settings.ts';

type Name = keyof DeploymentSettings;

/** Each of these is of no use without the other. */
const pairs: readonly (readonly [Name, Name])[] = [
  ['filesDomain', 'filesCertificateArn'],
  ['consoleDomain', 'consoleCertificateArn'],
  ['hostedZoneId', 'hostedZoneName'],
];

const domains = ['publicDomain', 'dashboardDomain', 'filesDomain', 'consoleDomain'] as const;

const refuse = (message: string): never => {
  throw new DeployProblem(`Deployment settings ${message}`);
};

/** Refuses settings that are each usable but not together; answers the others as they are. */
export const refuseContradictions = (chosen: DeploymentSettings): DeploymentSettings => {
  for (const [one, other] of pairs) {
    if ((chosen[one] === undefined) !== (chosen[other] === undefined)) {
      refuse(`${one} and ${other} must be given together`);
    }
  }
  if (chosen.monthlyBudget !== undefined && chosen.alarmEmail === undefined) {
    refuse('monthlyBudget needs alarmEmail, whom it tells');
  }
  for (const domain of ['filesDomain', 'consoleDomain'] as const) {
    if (chosen.cloudFront === 'off' && chosen[domain] !== undefined) {
      refuse(`cloudFront=off and ${domain} exclude each other: the domain leads to CloudFront`);
    }
  }
  const { apiCertificateArn, publicDomain, dashboardDomain, hostedZoneName } = chosen;
  if ((apiCertificateArn === undefined) !== (publicDomain === undefined && dashboardDomain === undefined)) {
    refuse('apiCertificateArn and publicDomain or dashboardDomain must be given together');
  }
  for (const domain of hostedZoneName === undefined ? [] : domains) {
    const name = chosen[domain];
    if (name !== undefined && name !== hostedZoneName && !name.endsWith(`.${hostedZoneName}`)) {
      refuse(`${domain} must lie in hostedZoneName, ${hostedZoneName}`);
    }
  }
  return chosen;
};
