import { AaaaRecord, ARecord, HostedZone, type IAliasRecordTarget, RecordTarget } from 'aws-cdk-lib/aws-route53';
import { Construct } from 'constructs';

/** The hosted zone for a deployment's DNS records. */
export interface Zone {
  readonly id: string;
  readonly name: string;
}

/** The operator's domain with its certificate, which must be in us-east-1 for CloudFront. */
export interface Domain {
  readonly name: string;
  readonly certificateArn: string;
  /** Without a zone, the operator creates a CNAME to the output `DomainTarget`. */
  readonly zone: Zone | undefined;
}

/** DNS records for IPv4 and IPv6 that point to an AWS resource. */
export class DomainRecord extends Construct {
  constructor(scope: Construct, id: string, recordName: string, alias: IAliasRecordTarget, zone: Zone) {
    super(scope, id);
    const attributes = { hostedZoneId: zone.id, zoneName: zone.name };
    const zoned = {
      zone: HostedZone.fromHostedZoneAttributes(this, 'Zone', attributes),
      // The full stop at the end prevents that the zone's name is appended.
      recordName: `${recordName}.`,
      target: RecordTarget.fromAlias(alias),
    };
    new ARecord(this, 'V4', zoned);
    new AaaaRecord(this, 'V6', zoned);
  }
}
