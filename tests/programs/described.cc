/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Functions of C++ whose arguments debug information describes: methods, references, classes, lambdas, packs. */
#include <cstdio>
#include <string>
#include <vector>
#include <memory>
#define APART __attribute__((noinline))
volatile long sink;
namespace net
{
enum class kind : unsigned char {
	A = 3
};
struct trivial {
	int a;
	float b;
};
struct owner {
	int *p;
	owner(int *q) : p(q)
	{
	}
	owner(const owner &o) : p(o.p)
	{
	}
	~owner()
	{
		sink++;
	}
};
class base
{
      public:
	long v;
	base(int x, const char *n);
	virtual ~base();
	virtual int run(int a, double b);
	static int st(int q, long r);
};
APART base::base(int x, const char *n) : v(x)
{
	sink += n[0];
}
APART base::~base()
{
	sink += v;
}
APART int base::run(int a, double b)
{
	sink += a + (long)b + v;
	return a;
}
APART int base::st(int q, long r)
{
	sink += q + r;
	return q;
}
class derived : public virtual base
{
      public:
	int w;
	derived(int x, int y);
	int run(int a, double b) override;
};
APART derived::derived(int x, int y) : base(x, "derived"), w(y)
{
	sink += w;
}
APART int derived::run(int a, double b)
{
	sink += a + (long)b + w;
	return a + 1;
}
} // namespace net
using namespace net;
APART int by_reference(owner o, int n)
{
	sink += *o.p;
	return n;
}
APART int by_value(trivial t, int n, double d)
{
	sink += t.a;
	return n + (int)d;
}
APART int refs(const std::string &s, std::string v, int &&r, kind k, decltype(nullptr) np, int n)
{
	sink += s.size() + v.size() + r + (int)k + (np == nullptr);
	return n;
}
APART owner gives(int n)
{
	static int x = 5;
	sink += n;
	return owner(&x);
}
APART std::vector<int> list(int n, const char *t)
{
	sink += t[0];
	return std::vector<int>(n);
}
template <class... T> APART int pack(int n, T... rest)
{
	sink += n + sizeof...(rest);
	((sink += (long)rest), ...);
	return n;
}
namespace
{
APART int hidden(short a, char16_t b, int c)
{
	sink += a + b + c;
	return c;
}
} // namespace
APART int take(std::unique_ptr<int> p, int n)
{
	sink += *p;
	return n;
}
struct Odd {
	static int shared;
	int x;
};
int Odd::shared = 1;
APART Odd odd(Odd o, bool b)
{
	sink += o.x + b;
	return o;
}
int main()
{
	int x = 7;
	by_reference(owner(&x), 11);
	by_value(trivial{ 1, 2 }, 12, 1.5);
	refs("abc", "def", 5, kind::A, nullptr, 13);
	gives(14);
	list(15, "list");
	base b(16, "base");
	b.run(17, 2.5);
	base::st(18, 19);
	derived d(20, 21);
	base *p = &d;
	p->run(22, 3.5);
	pack(23, 1L, 2.5, "x");
	hidden(-24, u'x', 25);
	auto lambda = [&](int a, const char *t) __attribute__((noinline))
	{
		sink += a + t[0] + x;
		return a;
	};
	lambda(26, "lambda");
	take(std::make_unique<int>(3), 27);
	odd(Odd{ 28 }, true);
	puts("done");
}
