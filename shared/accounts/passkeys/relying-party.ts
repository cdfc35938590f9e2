import { isIP } from 'node:net';
import { AppError } from '../../core/errors.ts';
import { allowsOrigin, ownSites } from '../../projects/allowed-origin.ts';
import type { Project } from '../../projects/project.ts';

/** Whom passkeys are for, in the words of WebAuthn. */
export interface RelyingParty {
  /** The host that passkeys are bound to. */
  readonly id: string;
  readonly name: string;
  /** Whether a page of this origin may use them. */
  readonly allows: (origin: string) => boolean;
}

type Site = Pick<Project, 'name' | 'siteUrl' | 'allowedDomains'>;

const siteUrlRequired = (setBy: string): AppError =>
  new AppError(
    'SITE_URL_REQUIRED',
    `Passkeys are bound to the host of the site URL, which must be a name and no IP address. ${setBy}`,
  );

const byProject = 'Set siteUrl: PATCH /api/projects/:projectId on the dashboard API.';

/** Browsers have passkeys on these pages alone. */
const isSecure = ({ protocol, hostname }: URL): boolean =>
  protocol === 'https:' || hostname === 'localhost' || hostname.endsWith('.localhost');

/**
 * The relying party of a site: its host, for its own pages at or below that (contract 3, "Passkeys"). No site URL, or
 * one whose host is an IP address, which browsers take for none → 400 `SITE_URL_REQUIRED`, saying where it is set.
 */
export const relyingParty = (site: Site, setBy = byProject): RelyingParty => {
  const id = site.siteUrl === null ? undefined : URL.parse(site.siteUrl)?.hostname;
  if (!id || isIP(id) !== 0 || id.startsWith('[')) throw siteUrlRequired(setBy);
  return {
    id,
    name: site.name,
    allows: (origin) => {
      const page = URL.parse(origin);
      const isBelow = page?.hostname === id || page?.hostname.endsWith(`.${id}`);
      return page?.origin === origin && isSecure(page) && isBelow === true && allowsOrigin(ownSites(site), origin);
    },
  };
};
