/** Of a query or a fragment. */
export type Parameters = Readonly<Record<string, string>>;

/** The address of a page of a site, below the path that it has, with these parameters in its query and its fragment. */
export const sitePage = (siteUrl: string, page: string, query: Parameters, fragment: Parameters = {}): string => {
  const url = new URL(siteUrl);
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/${page}`;
  url.search = new URLSearchParams(query).toString();
  url.hash = new URLSearchParams(fragment).toString();
  return url.href;
};
