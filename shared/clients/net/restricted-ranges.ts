import { BlockList, isIP } from 'node:net';

/** What is not on the public internet, and what stands for such: no customer's address leads there (contract 7). */
const ranges = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '168.63.129.16/32',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '::/96',
  '::ffff:0:0/96',
  '::ffff:0:0:0/96',
  '64:ff9b::/96',
  '64:ff9b:1::/48',
  '100::/64',
  '2001::/32',
  '2001:10::/28',
  '2001:20::/28',
  '2001:db8::/32',
  '2002::/16',
  '3fff::/20',
  '5f00::/16',
  'fc00::/7',
  'fe80::/10',
  'fec0::/10',
  'ff00::/8',
];

/** One list per family: in a list of both, the range of mapped addresses would match every IPv4 address. */
const listsOf = () => {
  const lists = { 4: new BlockList(), 6: new BlockList() } as const;
  for (const range of ranges) {
    const [network = '', prefix] = range.split('/');
    const family = isIP(network) === 4 ? 4 : 6;
    lists[family].addSubnet(network, Number(prefix), `ipv${family}`);
  }
  return lists;
};

/** Made on first use, as most processes meet no customer's host. */
let restricted: ReturnType<typeof listsOf> | undefined;

/** The family of an address as Node takes one without asking the DNS, without a zone; 0 for every other text. */
export const addressFamily = (text: string): 0 | 4 | 6 => {
  const family = text.includes('%') ? 0 : isIP(text);
  return family === 4 || family === 6 ? family : 0;
};

/** True for an address that a customer's host may not have; texts that are not addresses count as restricted. */
export const isRestrictedAddress = (text: string): boolean => {
  const family = addressFamily(text);
  if (family === 0) return true;
  restricted ??= listsOf();
  return restricted[family].check(text, `ipv${family}`);
};
