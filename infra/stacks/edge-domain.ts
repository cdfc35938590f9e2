import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import { type Distribution, type DistributionProps, SecurityPolicyProtocol } from 'aws-cdk-lib/aws-cloudfront';
import { CloudFrontTarget } from 'aws-cdk-lib/aws-route53-targets';
import { CfnOutput, type Stack } from 'aws-cdk-lib/core';
import { type Domain, DomainRecord } from './domain-record.ts';

/** The options of a distribution with a domain: TLS 1.2 or later. */
export const withDomain = (scope: Stack, domain: Domain | undefined): Partial<DistributionProps> =>
  domain
    ? {
        domainNames: [domain.name],
        certificate: Certificate.fromCertificateArn(scope, 'Certificate', domain.certificateArn),
        minimumProtocolVersion: SecurityPolicyProtocol.TLS_V1_2_2021,
      }
    : {};

/**
 * Points a domain to its distribution, or adds an output for the operator's own DNS record. Returns the address without
 * a path.
 */
export const addressAt = (scope: Stack, distribution: Distribution, domain: Domain | undefined): string => {
  if (!domain) return `https://${distribution.distributionDomainName}`;
  new CfnOutput(scope, 'DomainTarget', { value: distribution.distributionDomainName });
  if (domain.zone) new DomainRecord(scope, 'Record', domain.name, new CloudFrontTarget(distribution), domain.zone);
  return `https://${domain.name}`;
};
