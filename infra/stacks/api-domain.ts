import { ApiMapping, DomainName, type HttpStage, IpAddressType, SecurityPolicy } from 'aws-cdk-lib/aws-apigatewayv2';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import { ApiGatewayv2DomainProperties } from 'aws-cdk-lib/aws-route53-targets';
import { CfnOutput, type Stack } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import { type Domain, DomainRecord } from './domain-record.ts';

/** The operator's domain for an API, with TLS 1.2 or later. */
export class ApiDomain extends Construct {
  constructor(scope: Stack, id: string, props: Domain & { readonly stage: HttpStage }) {
    super(scope, id);
    const { name, certificateArn, zone, stage } = props;
    const domainName = new DomainName(this, 'Name', {
      domainName: name,
      certificate: Certificate.fromCertificateArn(this, 'Certificate', certificateArn),
      securityPolicy: SecurityPolicy.TLS_1_2,
      ipAddressType: IpAddressType.DUAL_STACK,
    });
    new ApiMapping(this, 'Mapping', { api: stage.api, domainName, stage });
    const { regionalDomainName, regionalHostedZoneId } = domainName;
    if (zone) {
      const target = new ApiGatewayv2DomainProperties(regionalDomainName, regionalHostedZoneId);
      new DomainRecord(this, 'Record', name, target, zone);
    }
    new CfnOutput(scope, 'DomainTarget', { value: regionalDomainName });
  }
}
