import type { DeploymentSettings } from '../settings/settings.ts';
import type { Domain, Zone } from './domain-record.ts';

type Domains = Readonly<Record<'public' | 'dashboard' | 'files' | 'console', Domain | undefined>>;

const withCertificate = (
  name: string | undefined,
  certificateArn: string | undefined,
  zone: Zone | undefined,
): Domain | undefined =>
  name !== undefined && certificateArn !== undefined ? { name, certificateArn, zone } : undefined;

/** A deployment's domains, with their certificates and zone. */
export const domainsOf = (settings: DeploymentSettings): Domains => {
  const {
    apiCertificateArn,
    filesCertificateArn,
    consoleCertificateArn,
    hostedZoneId: id,
    hostedZoneName: name,
  } = settings;
  const zone = id !== undefined && name !== undefined ? { id, name } : undefined;
  return {
    public: withCertificate(settings.publicDomain, apiCertificateArn, zone),
    dashboard: withCertificate(settings.dashboardDomain, apiCertificateArn, zone),
    files: withCertificate(settings.filesDomain, filesCertificateArn, zone),
    console: withCertificate(settings.consoleDomain, consoleCertificateArn, zone),
  };
};
