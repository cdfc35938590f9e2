import { canonicalAddress, onSuppressions, suppressionsOf } from './suppression.ts';

/**
 * Those of the addresses (plain, or `Name <address>`), as they were given, that the project's mails leave out. One
 * query.
 */
export const suppressedAmong = async (projectId: string, addresses: readonly string[]): Promise<Set<string>> => {
  if (addresses.length === 0) return new Set();
  const wanted = [...new Set(addresses.map(canonicalAddress))];
  const found = await onSuppressions((suppressions) =>
    suppressions
      .find(
        { ...suppressionsOf(projectId), email: { $in: wanted } },
        { projection: { _id: 0, email: 1 }, maxTimeMS: 5000 },
      )
      .toArray(),
  );
  const suppressed = new Set(found.map(({ email }) => email));
  return new Set(addresses.filter((address) => suppressed.has(canonicalAddress(address))));
};
