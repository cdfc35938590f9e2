/** The part of an address that one party controls: IPv6 is counted by its /64. */
export const sourceOf = (address: string): string => {
  if (!address.includes(':') || address.startsWith('::ffff:')) return address;
  const [head = '', tail = ''] = address.split('::');
  const groups = head.split(':').filter(Boolean);
  const rest = tail.split(':').filter(Boolean);
  const filled = [...groups, ...Array<string>(Math.max(0, 8 - groups.length - rest.length)).fill('0'), ...rest];
  return `${filled.slice(0, 4).join(':')}::/64`;
};
