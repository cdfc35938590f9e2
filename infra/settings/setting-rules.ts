import { DeployProblem } from './deploy-problem.ts';
import type { DeploymentSettings } from './settings.ts';

type Name = keyof DeploymentSettings;

/** Settings that are only useful together. */
const pairs: readonly (readonly [Name, Name])[] = [
  ['filesDomain', 'filesCertificateArn'],
  ['consoleDomain', 'consoleCertificateArn'],
  ['hostedZoneId', 'hostedZoneName'],
];

const domains = ['publicDomain', 'dashboardDomain', 'filesDomain', 'consoleDomain'] as const;

const fail = (message: string): never => {
  throw new DeployProblem(`Deployment settings ${message}`);
};

/** Throws `DeployProblem` if settings contradict each other; otherwise returns them. */
export const requireConsistent = (chosen: DeploymentSettings): DeploymentSettings => {
  for (const [one, other] of pairs) {
    if ((chosen[one] === undefined) !== (chosen[other] === undefined)) {
      fail(`${one} and ${other} must be given together`);
    }
  }
  if (chosen.monthlyBudget !== undefined && chosen.alarmEmail === undefined) {
    fail('monthlyBudget needs alarmEmail, which receives the warning');
  }
  for (const domain of ['filesDomain', 'consoleDomain'] as const) {
    if (chosen.cloudFront === 'off' && chosen[domain] !== undefined) {
      fail(`cloudFront=off and ${domain} exclude each other, because the domain points to CloudFront`);
    }
  }
  const { apiCertificateArn, publicDomain, dashboardDomain, hostedZoneName } = chosen;
  if ((apiCertificateArn === undefined) !== (publicDomain === undefined && dashboardDomain === undefined)) {
    fail('apiCertificateArn and publicDomain or dashboardDomain must be given together');
  }
  for (const domain of hostedZoneName === undefined ? [] : domains) {
    const name = chosen[domain];
    if (name !== undefined && name !== hostedZoneName && !name.endsWith(`.${hostedZoneName}`)) {
      fail(`${domain} must be a subdomain of hostedZoneName, ${hostedZoneName}`);
    }
  }
  return chosen;
};
