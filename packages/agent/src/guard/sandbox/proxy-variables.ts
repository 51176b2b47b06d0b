/** What commands are told, so that programs find the proxy. */

/** Programs look at one or another of these names. What is in the sandbox itself needs no proxy. */
export function toProxyVariables(port: number): Record<string, string> {
  const address = `http://127.0.0.1:${port}`;
  const names = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"].flatMap((name) => [name, name.toLowerCase()]);
  const direct = "localhost,127.0.0.1,::1";
  return {
    ...Object.fromEntries(names.map((name) => [name, address])),
    NO_PROXY: direct,
    no_proxy: direct,
    NODE_USE_ENV_PROXY: "1",
  };
}
