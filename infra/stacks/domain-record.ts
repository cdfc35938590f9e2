import { AaaaRecord, ARecord, HostedZone, type IAliasRecordTarget, RecordTarget } from 'aws-cdk-lib/aws-route53';
import { Construct } from 'constructs';

/** A hosted zone in which a deployment's records are made. */
export interface Zone {
  readonly id: string;
  readonly name: string;
}

/** A domain of the operator's own, with its certificate: in us-east-1 for CloudFront, else where it leads to. */
export interface Domain {
  readonly name: string;
  readonly certificateArn: string;
  /** Where its record is made; without it the operator makes a CNAME to the output `DomainTarget`. */
  readonly zone: Zone | undefined;
}

/** The records that lead a name to something of AWS, for IPv4 and IPv6. */
export class DomainRecord extends Construct {
  constructor(scope: Construct, id: string, recordName: string, alias: IAliasRecordTarget, zone: Zone) {
    super(scope, id);
    const attributes = { hostedZoneId: zone.id, zoneName: zone.name };
    const zoned = {
      zone: HostedZone.fromHostedZoneAttributes(this, 'Zone', attributes),
      // A full stop at the end: otherwise the zone's own name could be added to it.
      recordName: `${recordName}.`,
      target: RecordTarget.fromAlias(alias),
    };
    new ARecord(this, 'V4', zoned);
    new AaaaRecord(this, 'V6', zoned);
  }
}
