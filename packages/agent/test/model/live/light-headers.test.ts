import { describe, expect, test } from "vitest";
import { Headers as LightHeaders } from "../../../src/model/live/light-headers.ts";

describe("the stand-in for Headers", () => {
  test.each([
    [undefined],
    [{ "Content-Type": "a/b", Authorization: "Bearer k" }],
    [
      [
        ["X-One", "1"],
        ["x-one", "2"],
      ] as [string, string][],
    ],
    [new Headers({ "X-Real": "yes" })],
  ])("does what the global one does with %o", (given) => {
    const light = new LightHeaders(given);
    const real = new Headers(given);
    for (const headers of [light, real]) {
      headers.set("User-Agent", "sheaf");
      headers.append("Accept", "a");
      headers.append("accept", "b");
      headers.set("X-Gone", "1");
      headers.delete("x-gone");
    }
    expect(Object.fromEntries(light.entries())).toEqual(Object.fromEntries(real.entries()));
    expect(new Map(light)).toEqual(new Map(real));
    expect([light.get("ACCEPT"), light.has("accept"), light.get("none")]).toEqual(["a, b", true, null]);
    const seen: string[] = [];
    light.forEach((value, name) => seen.push(`${name}: ${value}`));
    expect(seen.toSorted()).toEqual([...real].map(([name, value]) => `${name}: ${value}`).toSorted());
  });
});
